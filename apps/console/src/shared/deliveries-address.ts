/** Of the filters of the list, those that a figure is of. */
interface Counted {
  /** Where the figure begins, in ISO 8601; '': not known. */
  readonly from: string;
  readonly status?: 'delivered' | 'failed' | 'pending';
  readonly subscriptionId?: string;
}

/** The address of the deliveries that a figure counts, up to now. */
export function deliveriesAddress({ from, ...filters }: Counted): string {
  const search = new URLSearchParams({ ...filters, ...(from !== '' && { from }) }).toString();
  return search === '' ? '/deliveries' : `/deliveries?${search}`;
}
