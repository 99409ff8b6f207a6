/**
 * The import law for folders: no two folders of an application or a library need each other. Specs and test helpers are
 * left out, since they may look at anything; that is why this rule does not stand in .dependency-cruiser.cjs.
 */
const law = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Two folders that need each other are one room, or hide a third.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...law.options,
    exclude: { path: ['(^|/)dist/', '\\.(spec|contract)\\.ts$', '/testing/', '/tutorial/', '^(test|tools|bench)/'] },
  },
};
