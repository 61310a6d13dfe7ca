// @ts-check
/** One run: the switch, the services beside it, the scenarios, and the report. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitWithMessage, parseWholeNumber } from '../support/run-flags.js'
import { locateAsterisk, startAsterisk } from './asterisk.js'
import { asteriskFiles, writeFiles } from './asterisk-config.js'
import { freeswitchFiles } from './freeswitch-config.js'
import { measureIdle, measureLoad } from './measure.js'
import { startRelay } from './relay.js'
import { playScenario } from './scenario.js'
import { SCENARIOS } from './scenarios.js'
import { TRUNK_CALLS } from './scenarios-routing.js'
import { startReceiver, startService } from './service.js'
import { waitUntil } from './wait-until.js'

/** @typedef {import('./scenario.js').LiveSwitch} LiveSwitch */
/**
 * @typedef {object} Flags
 * @property {string} [asterisk]
 * @property {string} [freeswitch]
 * @property {string} [write]
 * @property {string} only
 * @property {string} sources
 * @property {string} address
 * @property {string} switch
 * @property {string} rate
 * @property {string} seconds
 * @property {string} idle
 * @property {boolean} keep
 */

const PORTS = { sip: 25_060, ami: 25_038, http: 25_088, eventSocket: 25_021, rtp: 10_000 }
/** That both switches can run on one machine. */
const FREESWITCH_PORTS = { ...PORTS, sip: 25_070, rtp: 12_000 }
const TRUNK_PORT = 29_999
const portOf = (/** @type {string} */ number) => (number === 'trunk' ? TRUNK_PORT : 20_000 + Number(number))
/** The phones of the measurements, beside those of the scenarios. */
const LOAD_PHONES = { 1901: 'acme', 1902: 'acme' }

/**
 * What the configuration of a switch needs.
 *
 * @param {LiveSwitch['kind']} kind
 * @param {string} address
 * @param {string} phonesAddress
 * @param {string} secret
 */
function configuration(kind, address, phonesAddress, secret) {
  const scenarios = SCENARIOS.filter(({ only }) => only?.includes(kind) ?? true)
  const accounts = Object.assign({}, ...scenarios.map(({ phones }) => phones), LOAD_PHONES)
  const phones = Object.entries(accounts).map(([number, account]) => {
    return { number, port: portOf(number), ...(account === undefined ? {} : { account }) }
  })
  const dialplan = scenarios.flatMap((scenario) => scenario.dialplan?.[kind] ?? [])
  const ports = kind === 'asterisk' ? PORTS : FREESWITCH_PORTS
  return {
    address,
    phonesAddress,
    ports,
    secret,
    phones,
    trunk: { port: TRUNK_PORT, calls: TRUNK_CALLS },
    dialplan,
  }
}

/**
 * @param {Flags} flags
 * @returns {Promise<number>} the exit code
 */
export async function liveRun(flags) {
  if (flags.write !== undefined) return write(flags.write, flags)
  if (flags.asterisk === undefined && flags.freeswitch === undefined)
    exitWithMessage('nothing to do: --asterisk FOLDER, --asterisk HOST or --freeswitch HOST')
  if (spawnSync('sipp', ['-v'], { stdio: 'ignore' }).error)
    exitWithMessage('NOT RUN: the phones are SIPp, which is not installed (Debian: sip-tester)')
  let failures = 0
  if (flags.asterisk === undefined) console.log('SKIPPED: Asterisk: --asterisk is not given')
  else failures += await countFailures(runAsterisk(flags.asterisk, flags))
  if (flags.freeswitch === undefined)
    console.log(
      'SKIPPED: FreeSWITCH: no running one is given (--freeswitch HOST), and Debian has no package of it',
    )
  else failures += await countFailures(runFreeswitch(flags.freeswitch, flags))
  return failures === 0 ? 0 : 1
}

/** A switch that cannot be reached is a failure, too. @param {Promise<number>} run */
async function countFailures(run) {
  try {
    return await run
  } catch (thrown) {
    console.log(`FAILED  ${thrown instanceof Error ? thrown.message : thrown}`)
    return 1
  }
}

/**
 * @param {string} folder
 * @param {Flags} flags
 */
function write(folder, { address, switch: at }) {
  const secret = randomBytes(12).toString('hex')
  writeFiles(join(folder, 'asterisk'), asteriskFiles(configuration('asterisk', at, address, secret)))
  writeFiles(join(folder, 'freeswitch'), freeswitchFiles(configuration('freeswitch', at, address, secret)))
  console.log(`Configurations are in ${folder}/asterisk and ${folder}/freeswitch, for a switch at ${at} and phones at ${address}. Then run:
  export LIVE_SECRET=${secret}
  npm run live -- --address ${address} --asterisk ${at} --freeswitch ${at}`)
  return 0
}

const secretOfEnvironment = () =>
  process.env.LIVE_SECRET ?? exitWithMessage('a running switch needs LIVE_SECRET, which --write printed')

/**
 * @param {string} where
 * @param {Flags} flags
 */
async function runAsterisk(where, flags) {
  const isFolder = existsSync(where)
  const installation = isFolder ? locateAsterisk(where) : undefined
  if (isFolder && !installation) exitWithMessage(`--asterisk: ${where} has no asterisk`)
  const secret = isFolder ? randomBytes(12).toString('hex') : secretOfEnvironment()
  const host = isFolder ? flags.address : where
  const ami = { address: host, port: PORTS.ami }
  const files = asteriskFiles(configuration('asterisk', host, flags.address, secret))
  const byManager = {
    source: 'ami',
    target: ami,
    env: { HOOKSWITCH_AMI_SECRET: secret },
    flags: (/** @type {number} */ port) => [
      '--asterisk-ami',
      `hookswitch@127.0.0.1:${port}`,
      ...BY_ACCOUNT_ID,
    ],
  }
  const byRest = (/** @type {string} */ source, application = '') => ({
    source,
    target: { address: host, port: PORTS.http },
    env: { HOOKSWITCH_ARI_PASSWORD: secret },
    flags: (/** @type {number} */ port) => [
      '--asterisk-ari',
      `http://hookswitch@127.0.0.1:${port}/ari${application}`,
      ...BY_ACCOUNT_ID,
    ],
  })
  const asterisk = installation && (await startAsterisk(installation, files, ami))
  try {
    return await runScenarios({
      ...{ flags, title: `Asterisk at ${where}` },
      live: {
        kind: 'asterisk',
        sip: { address: host, port: PORTS.sip },
        ...{ phonesAddress: flags.address, portOf, transferor: 'hangs up', restart: asterisk?.restart },
      },
      connections: [byManager, byRest('ari'), byRest('ari-2', '?app=second-node')],
    })
  } finally {
    await asterisk?.end()
  }
}

const BY_ACCOUNT_ID = ['--account-from', 'variable:ACCOUNT_ID']

/**
 * @param {string} host
 * @param {Flags} flags
 */
function runFreeswitch(host, flags) {
  return runScenarios({
    ...{ flags, title: `FreeSWITCH at ${host}` },
    live: {
      ...{ kind: 'freeswitch', sip: { address: host, port: FREESWITCH_PORTS.sip } },
      ...{ phonesAddress: flags.address, portOf, transferor: 'is hung up', restart: undefined },
    },
    connections: [
      {
        ...{ source: 'freeswitch', target: { address: host, port: PORTS.eventSocket } },
        env: { HOOKSWITCH_FREESWITCH_PASSWORD: secretOfEnvironment() },
        flags: (port) => [
          '--freeswitch',
          `127.0.0.1:${port}`,
          '--account-from',
          'variable:ecallmgr_Account-ID',
        ],
      },
    ],
  })
}

/**
 * A service and how it connects to the switch, through a relay at this port.
 *
 * @typedef {object} Connection
 * @property {string} source
 * @property {{ address: string, port: number }} target
 * @property {Readonly<Record<string, string>>} env
 * @property {(port: number) => readonly string[]} flags
 */

/**
 * @param {{ title: string, flags: Flags, live: LiveSwitch, connections: readonly Connection[] }} options
 * @returns {Promise<number>} how many checks failed
 */
async function runScenarios({ title, flags, live, connections: all }) {
  const sources = flags.sources.split(',')
  const connections = all.filter(({ source }) => sources.includes(source))
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-live-'))
  const receiver = await startReceiver()
  const relays = await Promise.all(connections.map(({ target }) => startRelay(target)))
  const services = []
  let failures = 0
  const check = (/** @type {string} */ name, /** @type {readonly string[]} */ problems) => {
    console.log(`${problems.length === 0 ? 'passed' : 'FAILED'}  ${name}`)
    for (const problem of problems) console.log(`        ${problem}`)
    if (problems.length > 0) failures += 1
  }
  try {
    for (const [index, { source, env, flags: flagsOf }] of connections.entries())
      services.push(
        await startService({ source, folder, env, receiver, flags: flagsOf(relays[index]?.port ?? 0) }),
      )
    for (const service of services)
      await waitUntil(`${service.source}: a connection`, () => service.connections() > 0 || undefined)
    console.log(`\n${title}`)
    const run = { live, folder, services, relays, receiver, failed: new Set() }
    for (const scenario of SCENARIOS) {
      if (!scenario.name.includes(flags.only)) continue
      if (scenario.only && !scenario.only.includes(live.kind)) continue
      if (scenario.restarts && !live.restart)
        console.log(`SKIPPED ${scenario.name}: this run did not start the switch`)
      else check(scenario.name, await playScenario(scenario, run))
    }
    const idle = parseWholeNumber('idle', flags.idle, 0)
    if (idle > 0) check(`no connection is dropped in ${idle} s without calls`, await measureIdle(run, idle))
    const rate = parseWholeNumber('rate', flags.rate, 0)
    const seconds = parseWholeNumber('seconds', flags.seconds)
    if (rate > 0) check(`${rate} calls a second for ${seconds} s`, await measureLoad(run, rate, seconds))
    check('every request is signed', receiver.problems)
  } finally {
    for (const service of services) {
      await service.end()
      if (flags.keep) console.log(service.lines.map((line) => `${service.source} ${line}`).join('\n'))
    }
    for (const relay of relays) await relay.end()
    await receiver.end()
    if (flags.keep) console.log(`the logs of the phones are in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return failures
}
