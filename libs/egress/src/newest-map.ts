/** A bounded map: setting an entry makes it the newest; above the limit, the oldest are dropped. */
export class NewestMap<K, V> extends Map<K, V> {
  constructor(private readonly maxEntries: number) {
    super();
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.maxEntries) this.dropOldest();
    return this;
  }

  /** Drops a tenth at once: repeatedly deleting the first entry of a large map is slow. */
  private dropOldest(): void {
    const kept = this.maxEntries - Math.floor(this.maxEntries / 10);
    for (const oldest of this.keys()) {
      if (this.size <= kept) return;
      this.delete(oldest);
    }
  }
}
