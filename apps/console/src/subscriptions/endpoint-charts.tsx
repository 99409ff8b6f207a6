import { useLocation, useSearch } from 'wouter';
import { type RangeName, titlesOf, useFigureRanges } from '../overview/figure-ranges.js';
import { FigureTable } from '../overview/figure-table.js';
import { AcceptanceChart, OutcomeChart } from '../overview/overview-charts.js';
import { useFigures } from '../overview/use-figures.js';
import { Segments } from '../shared/segments.js';
import { Failure, Outdated } from '../shared/states.js';

/** How the deliveries of one subscription go. */
export function EndpointCharts({ subscriptionId }: { readonly subscriptionId: string }) {
  const ranges = useFigureRanges();
  const [location, navigate] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('range') ?? '';
  const name: RangeName = Object.hasOwn(ranges, asked) ? (asked as RangeName) : 'day';
  const { step } = ranges[name];
  const { data, error, dataUpdatedAt, isPlaceholderData, refetch } = useFigures(ranges[name], subscriptionId);
  return (
    <section aria-label="Figures" className="figures">
      <Segments
        label="Range"
        options={titlesOf(ranges)}
        value={name}
        onChange={(next) => navigate(next === 'day' ? location : `${location}?range=${next}`, { replace: true })}
      />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {error && data && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <div className={isPlaceholderData ? 'charts loading' : 'charts'} aria-busy={isPlaceholderData}>
        <OutcomeChart columns={data ?? []} step={step} />
        <AcceptanceChart columns={data ?? []} step={step} />
      </div>
      <FigureTable columns={isPlaceholderData ? [] : (data ?? [])} />
    </section>
  );
}
