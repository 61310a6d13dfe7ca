/**
 * SERVE: resident memory of `hookswitch serve`, with a SQLite file and an Asterisk that has 50 calls a second. The service is
 * started by Node alone, and as the systemd unit starts it.
 */
import { readFileSync } from 'node:fs'
import { startService } from '../live/service.js'
import { createFolder, removeFolder } from './file-system.js'
import { sleep, startProcess } from './processes.js'
import { median, summarize } from './statistics.js'

const CALLS_PER_SECOND = 50
const EVENTS_PER_CALL = 8
const SECONDS = 60
const GOAL_MB = 145
const PASSWORD = 'secret'
const ACCOUNT = { id: 'alpha', name: 'alpha', realm: 'alpha.example', apiKey: 'alpha-key-'.padEnd(40, '0') }

/** Reads how the systemd unit starts Node: its flags and environment. */
function readUnit() {
  const unit = readFileSync(new URL('../../deploy/systemd/hookswitch.service', import.meta.url), 'utf8')
  const [, flags] = /^ExecStart=\S+ (.*) \S+ serve /m.exec(unit)
  const variables = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  return {
    nodeFlags: flags.split(' '),
    env: Object.fromEntries(variables),
  }
}

/** The kernel's kB are KiB. */
const residentMb = (pid) =>
  (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1_024) / 1_000_000

/**
 * Resident memory of a new service before its first call, in the last ten seconds, and at its peak, MB.
 *
 * @param {{ nodeFlags: string[], env: Record<string, string> }} launch how Node is started
 */
async function measureOnce({ nodeFlags, env }) {
  const folder = createFolder()
  const asterisk = startProcess('calling-asterisk')
  const receiver = startProcess('receiver')
  let service
  try {
    const { port } = await asterisk.request('listen')
    const { port: receiverPort } = await receiver.request('listen')
    service = await startService({
      source: 'ami',
      folder,
      flags: ['--asterisk-ami', `hookswitch@127.0.0.1:${port}`, '--account-from', 'variable:ACCOUNT_ID'],
      env: { ...env, HOOKSWITCH_AMI_SECRET: PASSWORD },
      nodeFlags,
      receiver: { url: `http://127.0.0.1:${receiverPort}`, secrets: new Map() },
      accounts: [ACCOUNT],
    })
    while (service.connections() === 0) await sleep(50)
    const idleMb = residentMb(service.pid())
    const samples = []
    let isOver = false
    const sampling = (async () => {
      for (; !isOver; await sleep(1_000)) samples.push(residentMb(service.pid()))
    })()
    const calls = await asterisk.request('call', { rate: CALLS_PER_SECOND, seconds: SECONDS })
    const expected = calls * EVENTS_PER_CALL
    for (let waited = 0; (await receiver.request('received')) < expected; waited += 1) {
      if (waited === 600)
        throw new Error(`${await receiver.request('received')} of ${expected} webhooks arrived`)
      await sleep(100)
    }
    isOver = true
    await sampling
    const lateMb = median(samples.slice(-10))
    return { idleMb, lateMb, peakMb: Math.max(...samples) }
  } finally {
    await service?.end()
    await Promise.all([asterisk.stop(), receiver.stop()])
    removeFolder(folder)
  }
}

/** @param {{ rounds: number }} options */
export async function measureServing({ rounds }) {
  const launches = [
    { name: 'as in the systemd unit', launch: readUnit(), results: [] },
    { name: 'Node without flags', launch: { nodeFlags: [], env: {} }, results: [] },
  ]
  for (let round = 0; round < Math.min(rounds, 3); round += 1) {
    for (const { launch, results } of launches) results.push(await measureOnce(launch))
  }
  return launches.flatMap(({ name, results }) => {
    const row = (measurement, goal, values) => ({
      row: 'SERVE',
      measurement: `RSS of \`hookswitch serve\` (${name}), ${measurement}`,
      baseline: '–',
      unit: 'MB',
      goal,
      ...summarize(values),
    })
    return [
      row(
        `after a minute of ${CALLS_PER_SECOND} calls/s`,
        GOAL_MB,
        results.map(({ lateMb }) => lateMb),
      ),
      row(
        `peak in a minute of ${CALLS_PER_SECOND} calls/s`,
        undefined,
        results.map(({ peakMb }) => peakMb),
      ),
      row(
        'connected to an Asterisk without calls',
        undefined,
        results.map(({ idleMb }) => idleMb),
      ),
    ]
  })
}
