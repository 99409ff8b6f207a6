import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { requestIdOf } from '../errors/request-id.middleware.js';
import { TaskCommandDto, TaskListDto, TaskPathDto, TopicListDto } from './tasks.dto.js';
import { TasksService } from './tasks.service.js';

const tag = 'Operators';
const ANY_INSTANCE =
  'Asks every instance listed in `WAYPOST_ADMIN_URLS`; 404 if that is not set. Partitions of instances that do not respond are missing.';

/** The partitions of all instances, for an admin key: what `waypost tasks` shows and does. */
@Controller('/public/v1')
export class TasksController {
  constructor(private readonly service: TasksService) {}

  @Get('tasks')
  @Endpoint({
    operationId: 'listTasks',
    summary: 'List partitions and why some are parked',
    description: ANY_INSTANCE,
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'One task per consumer group and partition.', type: TaskListDto },
    errors: [404],
  })
  tasks(): Promise<TaskListDto> {
    return this.service.tasks();
  }

  @Post('tasks/:task/commands')
  @Endpoint({
    operationId: 'commandTask',
    summary: 'Retry a parked partition, or skip its failing record',
    description:
      'Instances accept commands only from their own host; a 404 names the instances that rejected the command for that reason.',
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 204, description: 'The owning instance has accepted the command.' },
    errors: [404, 409],
  })
  command(
    @Res({ passthrough: true }) response: Response,
    @Param() { task }: TaskPathDto,
    @Body() body: TaskCommandDto,
  ): Promise<void> {
    return this.service.command(task, body, requestIdOf(response));
  }

  @Get('topics')
  @Endpoint({
    operationId: 'listTopics',
    summary: 'List the topics and the lag of their consumers',
    description: ANY_INSTANCE,
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'Every topic of Waypost.', type: TopicListDto },
    errors: [404],
  })
  topics(): Promise<TopicListDto> {
    return this.service.topics();
  }
}
