/** A plausible mistake, as a change of one place in the sources that reads the same in the build. */
export interface PlantedBug {
  readonly name: string;
  readonly suite: 'delivery' | 'projection' | 'processor';
  readonly file: string;
  readonly is: string;
  readonly becomes: string;
  /** It only shows in a series of five attempts. */
  readonly needsFiveAttempts?: true;
}
