import { Module } from '@nestjs/common';

/** The projector has no HTTP face of its own: its work is done by the parts of the application. */
@Module({})
export class HistoryProjectorModule {}
