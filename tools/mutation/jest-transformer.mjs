/** The project's transformer, after whatever the worker wants changed: a mutant, or calls that record what runs. */
import swc from '@swc/jest';

function changed(source, file) {
  return globalThis.mutationRun?.rewrite(source, file) ?? source;
}

export default {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      canInstrument: false,
      process: (source, file, ...more) => transformer.process(changed(source, file), file, ...more),
      processAsync: (source, file, ...more) => transformer.processAsync(changed(source, file), file, ...more),
      getCacheKey: (source, file, ...more) => transformer.getCacheKey(changed(source, file), file, ...more),
    };
  },
};
