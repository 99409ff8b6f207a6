import { Component, type ReactNode } from 'react';

interface PlotBoundaryProps {
  readonly children: ReactNode;
  /** In place of the chart. */
  readonly fallback: ReactNode;
}

/** A chart that cannot be loaded (a newer release has other files) or drawn costs the chart, not the page. */
export class PlotBoundary extends Component<PlotBoundaryProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.fallback : this.props.children;
  }
}
