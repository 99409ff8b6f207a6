import type { DataSource } from 'typeorm';
import { compareSchema, databaseRefusal, isConnectionLoss, type SchemaComparison } from '@waypost/database';
import { BootError } from '@waypost/platform';

/** @throws BootError when the database cannot be used or reached, or has other tables than this build knows */
export async function connectDatabase(dataSource: DataSource): Promise<void> {
  const schema = await readSchema(dataSource);
  if (schema.type === 'behind') {
    const fix = 'start history-projector of this version, which migrates it, then public-api again';
    throw new BootError('database_schema', `The database lacks ${schema.missing.join(', ')}: ${fix}.`);
  }
  if (schema.type === 'ahead') {
    const changes = schema.unknown.join(', ');
    throw new BootError(
      'database_schema',
      `A newer version has migrated the database (${changes}): start that version.`,
    );
  }
}

async function readSchema(dataSource: DataSource): Promise<SchemaComparison> {
  try {
    await dataSource.initialize();
    return await compareSchema(dataSource);
  } catch (error) {
    const refusal = databaseRefusal(error);
    if (refusal !== null) throw new BootError('database_refused', refusal, { cause: error });
    if (!isConnectionLoss(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const fix = 'check that PostgreSQL runs and that DATABASE_URL points to it';
    const message = `The database cannot be reached (${reason}): ${fix}.`;
    throw new BootError('database_unreachable', message, { cause: error });
  }
}
