interface Confirmation {
  readonly generation: number;
  settle(confirmed: boolean): void;
}

/** Callers that wait for confirmation that this member still belongs to a generation of its group. */
export class Confirmations {
  private waiting: Confirmation[] = [];

  get pending(): boolean {
    return this.waiting.length > 0;
  }

  ask(generation: number): Promise<boolean> {
    return new Promise((settle) => this.waiting.push({ generation, settle }));
  }

  /** Call before a heartbeat is sent: it confirms only the calls made before it. */
  atHeartbeat(generation: number): () => void {
    const asked = new Set(this.waiting);
    return () => this.settle((one) => (asked.has(one) ? one.generation === generation : null));
  }

  generationIs(generation: number): void {
    this.settle((one) => (one.generation === generation ? null : false));
  }

  refuseAll(): void {
    this.settle(() => false);
  }

  private settle(verdict: (one: Confirmation) => boolean | null): void {
    this.waiting = this.waiting.filter((one) => {
      const confirmed = verdict(one);
      if (confirmed !== null) one.settle(confirmed);
      return confirmed === null;
    });
  }
}
