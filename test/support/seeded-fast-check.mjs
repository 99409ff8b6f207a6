/**
 * fast-check with a fixed seed: the same sources give the same verdict on every machine. New ground is searched on
 * purpose, with PROPERTY_SEED=random (or a number, to repeat a failure) and PROPERTY_RUNS_FACTOR, not by chance in a build.
 */
import fc from '../../node_modules/fast-check/lib/fast-check.js';

const FIXED_SEED = 20_261_121;
const DEFAULT_RUNS = 100;
const wanted = process.env.PROPERTY_SEED ?? String(FIXED_SEED);
const factor = Number(process.env.PROPERTY_RUNS_FACTOR ?? 1);

fc.configureGlobal({ numRuns: DEFAULT_RUNS * factor, ...(wanted === 'random' ? {} : { seed: Number(wanted) }) });

const assert = (property, parameters = {}) =>
  fc.assert(
    property,
    parameters.numRuns === undefined ? parameters : { ...parameters, numRuns: parameters.numRuns * factor },
  );

export default { ...fc, assert };
