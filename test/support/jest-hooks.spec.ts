import { describe, expect, it } from '@jest/globals';

interface Hooks {
  resolve(specifier: string, context: object, nextResolve: () => never): Promise<unknown>;
}

describe('the loader of test files', () => {
  it('says what it cannot find in a way that gets through to the report', async () => {
    const { resolve } = (await import(new URL('jest-hooks.mjs', import.meta.url).href)) as Hooks;
    const missing = Object.assign(new Error("Cannot find package 'no-such-package'"), { code: 'ERR_MODULE_NOT_FOUND' });
    const failed = resolve('no-such-package', {}, () => {
      throw missing;
    });
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    // As Node hands it to the thread that imports, and that thread to the runner.
    const received: unknown = Object.create(Error.prototype, Object.getOwnPropertyDescriptors(error));
    expect(structuredClone(received)).toMatchObject({ message: missing.message, code: 'ERR_MODULE_NOT_FOUND' });
  });
});
