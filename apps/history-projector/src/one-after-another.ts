/** The same work, but each call begins when all earlier ones are over, however they ended. */
export function oneAfterAnother<Input, Result>(
  work: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const turn = last.then(() => work(input));
    last = turn.catch(() => undefined);
    return turn;
  };
}
