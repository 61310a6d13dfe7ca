// @ts-check
/** One run: the switch, the services beside it, the scenarios, and the report. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitWithMessage, parseWholeNumber } from '../support/run-flags.js'
import { locateAsterisk, startAsterisk } from './asterisk.js'
import { asteriskFiles, writeFiles } from './asterisk-config.js'
import { loadFromFakes } from './fake-load.js'
import { freeswitchFiles } from './freeswitch-config.js'
import { measureIdle, measureLoad } from './measure.js'
import { compareRecords, parseRecord } from './records.js'
import { startRelay } from './relay.js'
import { createReport, interfaceOf } from './report.js'
import { playScenario } from './scenario.js'
import { SCENARIOS } from './scenarios.js'
import { TRUNK_CALLS } from './scenarios-routing.js'
import { accountOf, built, startReceiver, startService } from './service.js'
import { waitUntil } from './wait-until.js'

/** @typedef {import('./scenario.js').LiveSwitch} LiveSwitch */
/** @typedef {ReturnType<typeof createReport>} Report */
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
 * @property {boolean} fakes
 * @property {string} [table]
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
  /** @type {Record<string, string[]>} */
  const asteriskConf = {}
  for (const { asteriskConf: own = {} } of scenarios)
    for (const [file, lines] of Object.entries(own))
      asteriskConf[file] = [...(asteriskConf[file] ?? []), ...lines]
  const ports = kind === 'asterisk' ? PORTS : FREESWITCH_PORTS
  return {
    address,
    phonesAddress,
    ports,
    secret,
    phones,
    trunk: { port: TRUNK_PORT, calls: TRUNK_CALLS },
    dialplan,
    asteriskConf,
    queues: scenarios.flatMap(({ queues = [] }) => queues),
    mailboxes: scenarios.flatMap(({ mailboxes = [] }) => mailboxes),
  }
}

/**
 * @param {Flags} flags
 * @returns {Promise<number>} the exit code
 */
export async function liveRun(flags) {
  if (flags.write !== undefined) return write(flags.write, flags)
  const sources = flags.sources.split(',')
  const unknown = sources.find((source) => !SOURCES.includes(source))
  if (unknown !== undefined) exitWithMessage(`--sources: ${unknown} is none of ${SOURCES.join(', ')}`)
  const report = createReport(sources)
  if (flags.fakes) {
    const rate = parseWholeNumber('rate', flags.rate)
    await loadFromFakes({ sources, rate, seconds: parseWholeNumber('seconds', flags.seconds) }, report)
    return report.end()
  }
  if (flags.asterisk === undefined && flags.freeswitch === undefined)
    exitWithMessage('NOT RUN: --asterisk FOLDER, --asterisk HOST, --freeswitch HOST or --fakes')
  if (spawnSync('sipp', ['-v'], { stdio: 'ignore' }).error)
    exitWithMessage('NOT RUN: the phones are SIPp, which is not installed (Debian: sip-tester)')
  if (sources.some((source) => source !== 'freeswitch')) {
    if (flags.asterisk === undefined) report.skip('Asterisk: --asterisk is not given')
    else await runOf('Asterisk', runAsterisk(flags.asterisk, flags, report), report)
  }
  if (sources.includes('freeswitch')) {
    if (flags.freeswitch === undefined)
      report.skip('FreeSWITCH: no running one is given (--freeswitch HOST), and Debian has no package of it')
    else await runOf('FreeSWITCH', runFreeswitch(flags.freeswitch, flags, report), report)
  }
  if (flags.table !== undefined) writeFileSync(flags.table, report.table())
  return report.end()
}

const SOURCES = ['ami', 'ari', 'ari-2', 'freeswitch']

/**
 * A switch that cannot be reached is a failure, too.
 *
 * @param {string} name
 * @param {Promise<void>} run
 * @param {Report} report
 */
async function runOf(name, run, report) {
  try {
    await run
  } catch (thrown) {
    report.add(name, [{ source: '', problems: [String(thrown instanceof Error ? thrown.message : thrown)] }])
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
 * @param {Report} report
 */
async function runAsterisk(where, flags, report) {
  const isFolder = existsSync(where)
  const installation = isFolder ? locateAsterisk(where) : undefined
  if (isFolder && !installation) exitWithMessage(`--asterisk: ${where} has no asterisk`)
  const secret = isFolder ? randomBytes(12).toString('hex') : secretOfEnvironment()
  const host = isFolder ? flags.address : where
  const ami = { address: host, port: PORTS.ami }
  const files = asteriskFiles(configuration('asterisk', host, flags.address, secret))
  const hooks = await allHooks()
  const byManager = (/** @type {string} */ rule) => ({
    ...{ source: `ami${suffixOf(rule)}`, rule, target: ami, env: { HOOKSWITCH_AMI_SECRET: secret } },
    flags: (/** @type {number} */ port) => [
      ...['--asterisk-ami', `hookswitch@127.0.0.1:${port}?optional-hooks=${hooks}`],
      ...['--account-from', rule],
    ],
  })
  const byRest = (/** @type {string} */ rule, source = 'ari', application = '') => ({
    ...{ source: `${source}${suffixOf(rule)}`, rule, target: { address: host, port: PORTS.http } },
    env: { HOOKSWITCH_ARI_PASSWORD: secret },
    flags: (/** @type {number} */ port) => [
      '--asterisk-ari',
      `http://hookswitch@127.0.0.1:${port}/ari?optional-hooks=${hooks}${application}`,
      ...['--account-from', rule],
    ],
  })
  const asterisk = installation && (await startAsterisk(installation, files, ami))
  try {
    return await runScenarios({
      ...{ flags, report, title: `Asterisk at ${where}` },
      live: {
        kind: 'asterisk',
        sip: { address: host, port: PORTS.sip },
        ...{ phonesAddress: flags.address, portOf, transferor: 'hangs up', restart: asterisk?.restart },
      },
      records: asterisk?.records,
      connections: [
        ...RULES.flatMap((rule) => [byManager(rule), byRest(rule)]),
        byRest(BY_VARIABLE, 'ari-2', '&app=second-node'),
      ],
    })
  } finally {
    await asterisk?.end()
  }
}

/** Kinds of events that belong to no call. */
const STANDALONE = /^(device_|sms$|queue_agent_(login|logout|pause|resume)$)/

/** All kinds of events of calls. */
async function allHooks() {
  const { OPTIONAL_HOOKS } = await import(built('asterisk.js').href)
  return OPTIONAL_HOOKS.filter((/** @type {string} */ hook) => !STANDALONE.test(hook)).join()
}

/** How services find the account of a call; the first one for most scenarios. */
const BY_VARIABLE = 'variable:ACCOUNT_ID'
const RULES = [BY_VARIABLE, 'account-code', 'context', 'endpoint']
const suffixOf = (/** @type {string} */ rule) => (rule === BY_VARIABLE ? '' : `-${rule}`)

/**
 * @param {string} host
 * @param {Flags} flags
 * @param {Report} report
 */
async function runFreeswitch(host, flags, report) {
  const hooks = await allHooks()
  return runScenarios({
    ...{ flags, report, title: `FreeSWITCH at ${host}` },
    live: {
      ...{ kind: 'freeswitch', sip: { address: host, port: FREESWITCH_PORTS.sip } },
      ...{ phonesAddress: flags.address, portOf, transferor: 'is hung up', restart: undefined },
    },
    connections: [
      {
        ...{ source: 'freeswitch', rule: 'variable', target: { address: host, port: PORTS.eventSocket } },
        env: { HOOKSWITCH_FREESWITCH_PASSWORD: secretOfEnvironment() },
        flags: (port) => [
          '--freeswitch',
          `127.0.0.1:${port}?optional-hooks=${hooks}`,
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
 * @property {string} rule that finds the account of a call
 * @property {{ address: string, port: number }} target
 * @property {Readonly<Record<string, string>>} env
 * @property {(port: number) => readonly string[]} flags
 */

/**
 * @typedef {object} RunOptions
 * @property {string} title
 * @property {Flags} flags
 * @property {Report} report
 * @property {LiveSwitch} live
 * @property {readonly Connection[]} connections
 * @property {(() => readonly string[]) | undefined} [records] lines of the call detail records
 */

/** @param {RunOptions} options */
async function runScenarios({ title, flags, report, live, connections: all, records }) {
  const sources = flags.sources.split(',')
  const scenarios = SCENARIOS.filter(
    ({ name, only }) => name.includes(flags.only) && (only?.includes(live.kind) ?? true),
  )
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-live-'))
  const receiver = await startReceiver()
  /** The phones of failed scenarios. */
  const failed = new Set()
  console.log(`\n${title}`)
  /** Runs `during` beside the services of these connections. */
  const beside = async (
    /** @type {readonly Connection[]} */ connections,
    /** @type {(run: import('./scenario.js').Run) => Promise<void>} */ during,
  ) => {
    const relays = await Promise.all(
      connections.map(({ source, target }) =>
        startRelay(target, flags.keep ? join(folder, `${source}.stream`) : undefined),
      ),
    )
    const services = []
    try {
      for (const [index, { source, rule, env, flags: flagsOf }] of connections.entries())
        services.push(
          await startService({
            ...{ source, folder, env, receiver, flags: flagsOf(relays[index]?.port ?? 0) },
            ...(rule === 'endpoint' ? { accounts: ENDPOINT_ACCOUNTS } : {}),
          }),
        )
      for (const service of services)
        await waitUntil(`${service.source}: a connection`, () => service.connections() > 0 || undefined)
      await during({ live, folder, services, relays, receiver, failed })
    } finally {
      for (const service of services) {
        await service.end()
        if (flags.keep) console.log(service.lines.map((line) => `${service.source} ${line}`).join('\n'))
      }
      for (const relay of relays) await relay.end()
    }
  }
  const rules = [...new Set(all.map(({ rule }) => rule))]
  try {
    for (const [index, rule] of rules.entries()) {
      const own = scenarios.filter(({ accountFrom }) => (accountFrom ?? rules[0]) === rule)
      const connections = all.filter(
        ({ rule: its, source }) => its === rule && sources.includes(interfaceOf(source)),
      )
      if (index > 0 && (own.length === 0 || connections.length === 0)) continue
      await beside(connections, async (run) => {
        for (const scenario of own)
          if (scenario.restarts && !live.restart)
            report.skip(`${scenario.name}: this run did not start the switch`)
          else report.add(scenario.name, await playScenario(scenario, run))
        if (index === 0) await measure(run, flags, report)
      })
    }
    if (records) compareWithRecords(records(), receiver.received, sources)
    report.add('every request is signed', [{ source: '', problems: receiver.problems }])
  } finally {
    await receiver.end()
    if (flags.keep) console.log(`the logs of the phones, and what the switch sent, are in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
}

/** The phones that are tenants themselves. */
const ENDPOINT_ACCOUNTS = ['1731', '2731'].map(accountOf)

/**
 * @param {import('./scenario.js').Run} run
 * @param {Flags} flags
 * @param {Report} report
 */
async function measure(run, flags, report) {
  const idle = parseWholeNumber('idle', flags.idle, 0)
  if (idle > 0)
    report.add(`no connection is dropped in ${idle} s without calls`, [
      { source: '', problems: await measureIdle(run, idle) },
    ])
  const rate = parseWholeNumber('rate', flags.rate, 0)
  const seconds = parseWholeNumber('seconds', flags.seconds)
  if (rate > 0) report.add(`${rate} calls a second for ${seconds} s`, await measureLoad(run, rate, seconds))
}

/** How many records that differ are shown. */
const MAX_SHOWN = 20

/**
 * @param {readonly string[]} lines
 * @param {readonly import('./service.js').Received[]} received
 * @param {readonly string[]} sources
 */
function compareWithRecords(lines, received, sources) {
  const records = lines.map(parseRecord)
  for (const source of sources.filter((name) => name !== 'freeswitch')) {
    const { equal, near, farthestMs, several, unknown, different } = compareRecords(records, received, source)
    console.log(
      `        ${source}: of ${records.length} call detail records ${equal} have the whole seconds of their leg, ${near} differ by less than a second (at most ${farthestMs} ms); ` +
        `${several} legs have several records, ${unknown} no durations, ${different.length} others`,
    )
    for (const line of different.slice(0, MAX_SHOWN)) console.log(`        ${line}`)
  }
}
