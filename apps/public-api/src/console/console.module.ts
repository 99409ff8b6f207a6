import { fileURLToPath } from 'node:url';
import { Module } from '@nestjs/common';

/** Where the built console is; it need not be there. */
export const CONSOLE_FOLDER = Symbol('console folder');

/** The web console at `/`: files, which the HTTP pipeline serves. */
@Module({
  providers: [
    // In dist, beside the applications.
    { provide: CONSOLE_FOLDER, useFactory: () => fileURLToPath(new URL('../../../../console', import.meta.url)) },
  ],
  exports: [CONSOLE_FOLDER],
})
export class ConsoleModule {}
