import Sequencer from '@jest/test-sequencer';

/** On a fresh clone Jest goes by file size, which says nothing about suites that start processes of their own. */
const SLOW = [/test\/security\//, /supervisor\.int/, /-kills\.int/, /backend\/kafka\//, /group-progress/];
/**
 * Fault suites judge how punctual retries are, which they cannot beside end-to-end tests: these are over by then. The others
 * fill the logs of the product that all end-to-end tests share, and other suites read these logs to the end; the last two
 * leave records there that cannot be read at all, and delete some.
 */
const LAST = [/test\/faults\//, /pipeline\.e2e/, /kill-each-app\.e2e/, /poison-records\.e2e/, /parked-partition\.e2e/];

export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = SLOW.findIndex((pattern) => pattern.test(path));
      return rank < 0 ? SLOW.length + 1 + LAST.findIndex((pattern) => pattern.test(path)) : rank;
    };
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
