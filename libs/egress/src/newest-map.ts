/** Bounded: setting an entry makes it the newest, and the oldest above the limit are dropped. */
export class NewestMap<K, V> extends Map<K, V> {
  constructor(private readonly maxEntries: number) {
    super();
  }

  override set(key: K, value: V): this {
    // Maps keep the order of insertion.
    this.delete(key);
    super.set(key, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.maxEntries) break;
      this.delete(oldest);
    }
    return this;
  }
}
