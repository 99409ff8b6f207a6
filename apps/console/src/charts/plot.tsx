import './uplot.css';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { colorsOf, watchColors } from '../shared/colors.js';
import { heightOf } from './duration-axis.js';
import { optionsOf, type PlotShape } from './plot-options.js';
import { type ChartSeries, stackTops } from './series.js';

interface PlotProps extends PlotShape {
  /** In epoch milliseconds. */
  readonly times: readonly number[];
  /** From the bottom up when they are stacked. */
  readonly series: readonly ChartSeries[];
}

/** What uPlot draws; without it a page has the same as a table. Loaded when the first chart is shown. */
export default function Plot(props: PlotProps) {
  const { series, kind, stepMs, most, least, areDurations = false, format, onPoint } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [colorsVersion, setColorsVersion] = useState(0);
  const data = dataOf(props);
  const latest = useRef({ data, series, format, onPoint });
  const names = series.map(({ label, color }) => `${label} ${color}`).join();

  useEffect(() => {
    latest.current = { data, series, format, onPoint };
    plot.current?.setData(data);
  });

  useEffect(() => watchColors(() => setColorsVersion((version) => version + 1)), []);

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const { series: drawn, data: first } = latest.current;
    const shape = {
      kind,
      stepMs,
      ...(most !== undefined && { most }),
      ...(least !== undefined && { least }),
      areDurations,
      format: (value: number) => latest.current.format(value),
      onPoint: (index: number | null) => latest.current.onPoint(index),
    };
    const colors = colorsOf(element, ['faint', 'grid', ...drawn.map(({ color }) => color)]);
    const order = kind === 'bars' ? drawn.toReversed() : drawn;
    const { clientWidth: width, clientHeight: height } = element;
    const made = new uPlot(optionsOf(shape, order, colors, { width, height }), first, element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [kind, stepMs, most, least, areDurations, names, colorsVersion]);

  return <div className="plot" ref={host} aria-hidden="true" />;
}

/** The highest bars are drawn first, and the lower ones over them. */
function dataOf({ times, series, kind, areDurations = false }: PlotProps): uPlot.AlignedData {
  const seconds = times.map((ms) => ms / 1_000);
  if (kind === 'bars') return [seconds, ...stackTops(series).toReversed()];
  return [seconds, ...series.map(({ values }) => (areDurations ? values.map(heightOf) : [...values]))];
}
