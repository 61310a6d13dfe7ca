import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { amiEvents, ariEvents } from './asterisk-scenarios.js'

const recording = (name: string) =>
  gunzipSync(readFileSync(new URL(`asterisk-recordings/${name}.gz`, import.meta.url)))

/**
 * Calls that SIP phones placed on a live Asterisk 22.10.1, over AMI (`read = call,dialplan`) and ARI. Phones 1001 and 20xx
 * have `set_var=ACCOUNT_ID=alpha`, 1002 and 2005 beta, `late`, 2008 and the trunk none.
 */
export const STREAMS = [
  ['AMI', amiEvents([recording('ami.txt')])],
  ['ARI', ariEvents(recording('ari.ndjson').toString().trimEnd().split('\n'))],
] as const
