/** Apart from what writes them, so that `--help` loads no library. */
export const EXPORT_FORMATS = ['ndjson', 'csv', 'parquet'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
