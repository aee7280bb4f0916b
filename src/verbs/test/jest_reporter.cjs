// Written by andon for one run of the tests: keeps the result beside the reporters that people see.
const fs = require('fs');
module.exports = class {
  onRunComplete(_, run) {
    const testResults = run.testResults.map((suite) => ({
      name: suite.testFilePath,
      status: suite.numFailingTests || suite.testExecError ? 'failed' : 'passed',
      message: suite.failureMessage || '',
      assertionResults: suite.testResults,
    }));
    // jest itself sets `success` after this call, and no failing test or suite makes it false.
    const failed = run.numFailedTests || run.numRuntimeErrorTestSuites || (run.snapshot && run.snapshot.failure);
    const success = !failed && !run.wasInterrupted;
    try {
      fs.writeFileSync(__filename + '.json', JSON.stringify({ ...run, success, testResults }));
    } catch {}
  }
};
