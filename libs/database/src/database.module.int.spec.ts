import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { createTestDatabase } from '../../../test/support/test-database.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { DatabaseModule } from './database.module.js';
import { PageSource } from './page-source.js';

const NAME = { name: 'name', text: 'SELECT current_database() AS name', parameters: [] };
const nameIn = (url: string) => new URL(url).pathname.slice(1);

it('pages are read from the standby when there is one, everything else from the database', async () => {
  const serverUrl = requireTestStack().databaseUrl;
  const [database, standby] = await Promise.all([createTestDatabase(serverUrl), createTestDatabase(serverUrl)]);
  const root = DatabaseModule.forRootAsync({ useFactory: () => ({ url: database.url, readUrl: standby.url }) });
  @Module({ imports: [root] })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false });

  expect(await app.get<PageSource>(PageSource).read('acme', NAME)).toEqual([{ name: nameIn(standby.url) }]);
  expect(await app.get(DataSource).query(NAME.text)).toEqual([{ name: nameIn(database.url) }]);

  await app.close();
  await Promise.all([database.drop(), standby.drop()]);
});
