/** The project's transformer, after whatever the worker wants changed: a mutant, or calls that record what runs. */
import swc from '@swc/jest';
import { SWC_OPTIONS } from '../../test/support/swc-options.mjs';

function changed(source, file) {
  return globalThis.mutationRun?.rewrite(source, file) ?? source;
}

export default {
  createTransformer() {
    const transformer = swc.createTransformer(SWC_OPTIONS);
    return {
      canInstrument: false,
      process: (source, file, ...more) => transformer.process(changed(source, file), file, ...more),
      processAsync: (source, file, ...more) => transformer.processAsync(changed(source, file), file, ...more),
      getCacheKey: (source, file, ...more) => transformer.getCacheKey(changed(source, file), file, ...more),
    };
  },
};
