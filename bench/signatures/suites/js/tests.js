// One list of tests; @HEAD@ and @TEST@ make a file of it for each runner.
@HEAD@
@S@
class Thing {}

function deep(level) {
  if (level === 0) return null.missing;
  return deep(level - 1);
}

@TEST@('passes', () => {
  assert.strictEqual(1 + 1, 2);
});

@TEST@('value of a sum', () => {
  console.log('started', new Date());
  assert.strictEqual(1 + 2, @V@);
});

@TEST@('value in a message', () => {
  throw new Error('the sum is not @V@');
});
@S@
@TEST@('kind of error', () => {
  throw new @K@('the same words');
});

@TEST@('renamed@N@', () => {
  throw new Error('the same words');
});

@TEST@('deep error', () => {
  deep(4);
});

@TEST@('object with a value', () => {
  assert.deepStrictEqual({ a: 1, b: { c: @V@ } }, { a: 1, b: { c: 0 } });
});

@TEST@('missing file of the project', () => {
  fs.readFileSync(path.join(__dirname, 'missing.txt'));
});

@TEST@('temporary directory', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'run-'));
  fs.readFileSync(path.join(directory, 'settings.json'));
});

@TEST@('time now', () => {
  throw new Error('late: ' + new Date().toISOString());
});

@TEST@('time as number', () => {
  throw new Error('late: ' + Date.now());
});
@S@
@TEST@('elapsed', async () => {
  const start = process.hrtime.bigint();
  await new Promise((done) => setTimeout(done, 3));
  throw new Error(`took ${Number(process.hrtime.bigint() - start) / 1e6} ms`);
});

@TEST@('port in use', async () => {
  const one = net.createServer();
  await new Promise((done) => one.listen(0, '127.0.0.1', done));
  const { port } = one.address();
  const two = net.createServer();
  try {
    await new Promise((done, fail) => two.on('error', fail).listen(port, '127.0.0.1', done));
  } finally {
    one.close();
  }
});

@TEST@('connection refused', async () => {
  const one = net.createServer();
  await new Promise((done) => one.listen(0, '127.0.0.1', done));
  const { port } = one.address();
  await new Promise((done) => one.close(done));
  await new Promise((done, fail) => net.connect(port, '127.0.0.1').on('error', fail).on('connect', done));
});

@TEST@('uuid', () => {
  throw new Error('no session ' + crypto.randomUUID());
});

@TEST@('token', () => {
  throw new Error('no token ' + crypto.randomBytes(32).toString('base64'));
});

@TEST@('digest', () => {
  throw new Error('no object ' + crypto.randomBytes(20).toString('hex'));
});

@TEST@('subprocess', () => {
  child.execFileSync(process.execPath, ['-e', 'process.exit(3)'], { stdio: 'pipe' });
});

@TEST@('process id', () => {
  throw new Error('worker died (pid ' + process.pid + ')');
});

@TEST@('seed', () => {
  throw new Error('failed with seed ' + Math.floor(Math.random() * 99999));
});

@TEST@('lines of text', () => {
  assert.strictEqual('one\ntwo\nvalue\n', 'one\ntwo\nother\n');
});

for (const number of [1, @V@, 'a - b']) {
  @TEST@(`with parameter ${number}`, () => {
    assert.strictEqual(number, null);
  });
}

@TEST@('cause', () => {
  try {
    deep(1);
  } catch (error) {
    throw new Error('the outer one', { cause: error });
  }
});
@TAIL@
