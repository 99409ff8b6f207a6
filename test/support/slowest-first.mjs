import Sequencer from '@jest/test-sequencer';

/** On a fresh clone Jest goes by file size, which says nothing about suites that start processes of their own. */
const SLOW = [
  /test\/faults\//,
  /test\/security\//,
  /supervisor\.int/,
  /-kills\.int/,
  /backend\/kafka\//,
  /group-progress/,
];

export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = SLOW.findIndex((pattern) => pattern.test(path));
      return rank < 0 ? SLOW.length : rank;
    };
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
