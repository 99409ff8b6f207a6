/** npm runs scripts in the project's root and says here where it was called. */
export function callerDirectory(): string {
  return process.env['INIT_CWD'] ?? process.cwd();
}
