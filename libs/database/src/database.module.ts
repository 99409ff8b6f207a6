import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { dataSourceOptions, type DataSourceSettings } from './data-source.js';
import { takeTurns } from './fleet-scope.js';
import { FleetTurns } from './fleet-turns.js';
import { createPageSource, PageSource, type PageSourceSettings } from './page-source.js';

/** The turns of fleets are for pages and, apart from them, for everything else. */
export interface DatabaseModuleOptions extends Omit<DataSourceSettings, 'entities'>, PageSourceSettings {
  /** A libpq URL, as of `createDataSource`. */
  readonly url: string;
  /** Where pages are read, if not there: a standby, which may lag behind. */
  readonly readUrl?: string;
  /**
   * Connects at start, for an application that waits for the database, migrates it or translates errors.
   * Default: one `initialize()`.
   */
  readonly connect?: (dataSource: DataSource) => Promise<unknown>;
}

export interface DatabaseModuleAsyncOptions
  extends Pick<ModuleMetadata, 'imports'>, Pick<FactoryProvider<DatabaseModuleOptions>, 'inject' | 'useFactory'> {}

const OPTIONS = Symbol('database options');

/**
 * Connects when the application starts and disconnects in the last shutdown hook, after whatever uses the database. A
 * connection attempt is part of the start, not of building the module: `connect` decides how often to try.
 */
@Injectable()
class DatabaseConnection implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(OPTIONS) private readonly options: DatabaseModuleOptions,
    private readonly dataSource: DataSource,
    private readonly pages: PageSource,
  ) {}

  async onModuleInit(): Promise<void> {
    const { fleetTurns } = this.options;
    if (fleetTurns !== undefined) takeTurns(this.dataSource, new FleetTurns(fleetTurns));
    await (this.options.connect?.(this.dataSource) ?? this.dataSource.initialize());
  }

  /** TypeOrmModule closes the data source in the same hook. */
  async onApplicationShutdown(): Promise<void> {
    await this.pages.close();
  }
}

@Module({})
class DatabaseOptionsModule {}

/** The data source (injected as TypeORM's `DataSource`) and the page source, for every module of the application. */
@Module({})
export class DatabaseModule {
  static forRootAsync({ imports = [], inject = [], useFactory }: DatabaseModuleAsyncOptions): DynamicModule {
    const options: DynamicModule = {
      module: DatabaseOptionsModule,
      imports,
      providers: [{ provide: OPTIONS, inject, useFactory }],
      exports: [OPTIONS],
    };
    const pages: FactoryProvider<PageSource> = {
      provide: PageSource,
      inject: [OPTIONS],
      useFactory: ({ url, readUrl, ...settings }: DatabaseModuleOptions) => createPageSource(readUrl ?? url, settings),
    };
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        options,
        TypeOrmModule.forRootAsync({ imports: [options], inject: [OPTIONS], useFactory: typeOrmOptions }),
      ],
      providers: [pages, DatabaseConnection],
      exports: [PageSource, TypeOrmModule],
    };
  }
}

/** Entities come from `TypeOrmModule.forFeature` of the stores. */
function typeOrmOptions({ url, readUrl: _, ...settings }: DatabaseModuleOptions): TypeOrmModuleOptions {
  return { ...dataSourceOptions(url, settings), autoLoadEntities: true, manualInitialization: true, retryAttempts: 1 };
}
