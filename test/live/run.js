// @ts-check
/**
 * Places calls through a live switch, and compares what was published with what the phones did:
 * `npm run live -- --asterisk / [--only TEXT] [--rate 50 --seconds 60] [--idle 180]`. Without a switch
 * `npm run live -- --fakes --rate 50 --seconds 60` plays the same load from recorded calls.
 *
 * `--asterisk FOLDER` starts the Asterisk of this machine (`/`), of a prefix, or of a root folder (by chroot, which needs
 * root). `--asterisk HOST` and `--freeswitch HOST` use a running switch, whose configuration `--write FOLDER` wrote.
 * `--write` takes the addresses of the switch (`--switch`) and of the phones (`--address`), and prints the next command.
 * The phones are SIPp (Debian's `sip-tester`).
 *
 * `--only` plays the scenarios with this text in their names, `--sources` runs these of ami, ari, ari-2 and freeswitch.
 * `--idle` and `--rate` measure afterwards: no connection is dropped without calls, and no event is missing, doubled or out
 * of order at a constant rate of calls. The durations are compared with the call detail records of an Asterisk that the run
 * started. `--keep` shows the logs of hookswitch and keeps those of the phones and all that
 * the switch sent, `--table FILE` writes the results.
 *
 * The exit code is 0 if everything of `--sources` passed, 1 if something failed, 3 if nothing failed and something was
 * skipped, such as the scenarios of a switch that is not given.
 */
import { readRunFlags } from '../support/run-flags.js'
import { liveRun } from './live-run.js'

const values = readRunFlags({
  asterisk: { type: 'string' },
  freeswitch: { type: 'string' },
  write: { type: 'string' },
  only: { type: 'string', default: '' },
  sources: { type: 'string', default: 'ami,ari,ari-2,freeswitch' },
  address: { type: 'string', default: '127.0.0.1' },
  switch: { type: 'string', default: '127.0.0.1' },
  rate: { type: 'string', default: '0' },
  seconds: { type: 'string', default: '60' },
  idle: { type: 'string', default: '0' },
  keep: { type: 'boolean', default: false },
  fakes: { type: 'boolean', default: false },
  table: { type: 'string' },
})
process.exitCode = await liveRun(values)
