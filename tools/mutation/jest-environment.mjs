/** Skips what is left once a test has failed: the mutant is found. */
import environments from 'jest-environment-node';

const NodeEnvironment = environments.default ?? environments.TestEnvironment ?? environments;

export default class MutationEnvironment extends NodeEnvironment {
  async setup() {
    await super.setup();
    this.global.mutationHit = (file, scope) => globalThis.mutationRun?.hit(file, scope);
  }

  handleTestEvent(event) {
    const run = globalThis.mutationRun;
    if (run === undefined) return;
    if (event.name === 'test_done' && event.test.errors.length > 0) run.failed ??= event.test.name;
    if (event.name === 'test_start' && run.failed !== undefined) event.test.mode = 'skip';
  }
}
