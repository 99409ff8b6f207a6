/** Breaks a connection of pg, whose types leave the socket out. All that waits for an answer on it is rejected. */
export function cutOff(client: object): void {
  (client as { readonly connection?: { readonly stream: { destroy(): void } } }).connection?.stream.destroy();
}
