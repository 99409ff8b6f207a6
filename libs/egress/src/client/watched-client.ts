import { Client, type buildConnector, type Dispatcher } from 'undici';
import { ResponseFilter } from './response-filter.js';

/** Told before a request is queued which filter its response will pass. */
export interface FilteredDispatch extends Dispatcher.DispatchOptions {
  readonly onFilter: (filter: ResponseFilter) => void;
}

export interface WatchedClientOptions {
  readonly connect: buildConnector.connector;
  readonly maxResponseHeaderBytes: number;
}

/** One connection of a pool, whose responses pass a filter before they are parsed. */
export class WatchedClient extends Client {
  private readonly filter: ResponseFilter;

  constructor(origin: URL | string, clientOptions: Client.Options, options: WatchedClientOptions) {
    const filter = new ResponseFilter({ maxHeadBytes: options.maxResponseHeaderBytes });
    const connect: buildConnector.connector = (target, callback) => {
      options.connect(target, (...[error, socket]: Parameters<buildConnector.Callback>) => {
        if (error !== null) callback(error, null);
        else callback(null, filter.watch(socket));
      });
    };
    super(origin, { ...clientOptions, connect });
    this.filter = filter;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('onFilter' in options) (options as FilteredDispatch).onFilter(this.filter);
    return super.dispatch(options, handler);
  }
}
