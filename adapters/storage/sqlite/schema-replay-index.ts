/** Migration 10: nothing reads the waiting replays of a webhook by their lane any more. */
export const SCHEMA_10 = `
drop index hookswitch_waiting_replay;
`
