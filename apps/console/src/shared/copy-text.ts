/**
 * Whether a text is in the clipboard now. A page without TLS has none, and a frame of another origin only with
 * `allow="clipboard-write"`.
 */
export async function copyText(text: string, clipboard: Pick<Clipboard, 'writeText'> | undefined): Promise<boolean> {
  if (clipboard === undefined) return false;
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
