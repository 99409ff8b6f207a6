/** Where `npm start` keeps its stack when it is not told otherwise. */
export const defaultDataDir = '.waypost/data';
