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
    try {
      fs.writeFileSync(__filename + '.json', JSON.stringify({ ...run, testResults }));
    } catch {}
  }
};
