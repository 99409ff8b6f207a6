import Sequencer from '@jest/test-sequencer';

/** On a fresh clone Jest goes by file size, which says nothing about suites that start processes of their own. */
const SLOW = [
  /test\/faults\/delivery/,
  /test\/security\//,
  /supervisor\.int/,
  /-kills\.int/,
  /backend\/kafka\//,
  /group-progress/,
  // Not beside the other fault suite: each starts, kills and cuts off processes of its own, and judges what is late.
  /test\/faults\/processor/,
];
/**
 * These fill the logs of the product that all end-to-end tests share, and other suites read these logs to the end. The last
 * two leave records there that cannot be read at all, and delete some.
 */
const LAST = [/pipeline\.e2e/, /kill-each-app\.e2e/, /poison-records\.e2e/, /parked-partition\.e2e/];

export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = SLOW.findIndex((pattern) => pattern.test(path));
      return rank < 0 ? SLOW.length + 1 + LAST.findIndex((pattern) => pattern.test(path)) : rank;
    };
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
