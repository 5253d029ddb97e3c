"use strict";
// Around each test of a worker. A file of tests begins with the tables of its schema; what its beforeAll makes stays; what a test changes is rolled back after it.
// Nothing closes the engine in process: a file's own afterAll may come later, and the engine is collected with the file's globals.
const CHECKPOINT = "test";

module.exports = (namespace, schema, { beforeAll, beforeEach, afterEach }) => {
  beforeAll(async () => {
    await namespace.reset();
    if (schema.length > 0) await namespace.apply(...schema);
  });
  beforeEach(async () => { await namespace.checkpoint(CHECKPOINT); });
  afterEach(async () => {
    await namespace.rollback(CHECKPOINT);
    await namespace.forget(CHECKPOINT);
    await namespace.faults.clear();
  });
};
