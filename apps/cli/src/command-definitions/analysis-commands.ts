import { type Command, Option } from 'commander';
import { RULE_SETS, type RuleSet } from '@waypost/domain';
import { changedSettings, THRESHOLDS } from '../analysis/thresholds.js';
import { fromCallerIfAny, leaf, NO_RANGE, type ProgramContext, type RangeFlags, withTimes } from './command.js';

interface BacktestFlags extends RangeFlags {
  readonly report?: string;
  readonly rules: RuleSet;
}

function rulesOption(): Option {
  const option = new Option('--rules <rules>', 'rule set of telemetry-processor (its WAYPOST_RULES)');
  return option.choices(RULE_SETS).default('all');
}

export function addBacktest(program: Command, { terminal, callerDir }: ProgramContext): void {
  const command = leaf(
    program,
    'backtest',
    'Runs the rules over recorded pings with other thresholds and shows what would change; writes nothing to the stack.',
  );
  withTimes(command, 'pings appended').option('--device <id>', 'only this device');
  for (const { flag, description, parse } of THRESHOLDS) command.option(flag, description, parse);
  command
    .addOption(rulesOption())
    .option('--report <file>', 'also write an HTML report')
    .action(async ({ dataDir, from, to, device, report, rules, ...thresholds }: BacktestFlags) => {
      const { backtest } = await import('../commands/backtest.js');
      await backtest(terminal, {
        dataDir,
        from: from ?? null,
        to: to ?? null,
        device: device ?? null,
        settings: changedSettings(thresholds),
        rules,
        report: fromCallerIfAny(callerDir, report),
      });
    });
}

export function addVerify(program: Command, { terminal }: ProgramContext): void {
  const command = leaf(
    program,
    'verify',
    'Recomputes the events from the pings and checks the log and the deliveries against them.',
  );
  withTimes(command, 'pings and events appended')
    .addOption(rulesOption())
    .action(async (flags: RangeFlags & { rules: RuleSet }) => {
      const { verify } = await import('../commands/verify.js');
      await verify(terminal, { ...NO_RANGE, ...flags });
    });
}
