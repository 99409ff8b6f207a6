const ROWS = 8;

/** Where the rows of a table will be, so that nothing jumps when they come. */
export function RowSkeleton() {
  return (
    <div className="table skeleton" aria-hidden="true">
      {Array.from({ length: ROWS }, (_, index) => (
        <div key={index} className="row">
          <span />
        </div>
      ))}
    </div>
  );
}
