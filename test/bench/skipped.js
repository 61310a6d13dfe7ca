/** A measurement that cannot run on this machine. Its row shows the reason; the run does not fail. */
export class Skipped extends Error {}
