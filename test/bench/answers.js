/** P4 and P5: a webhook read with a token, against servers that answer the same bytes without any work. */
import { against, inTurns, rates } from './numbers.js'
import { startProcess } from './processes.js'

const CONNECTIONS = 32

/** Headers that the server writes by itself. */
const OWN = new Set(['connection', 'date', 'keep-alive', 'x-powered-by'])

/** The bytes that a server of ours answers, as a record. */
async function answerOf({ port, path, token }) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-auth-token': token } })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${body}`)
  const headers = [...response.headers].filter(([name]) => !OWN.has(name))
  return { headers: Object.fromEntries(headers), body }
}

async function compare({ rounds, profile, ours, bare, count }) {
  const load = startProcess('web-load')
  const oursProcess = startProcess('web-server', { profile })
  const bareProcess = startProcess('web-server')
  try {
    const target = await oursProcess.ask('listen', { kind: ours })
    const answer = await answerOf(target)
    const { port: barePort } = await bareProcess.ask('listen', { kind: bare, answer })
    const { path, token } = target
    const round = (process, port, requests) => async () => {
      const before = await process.ask('cpuMs')
      const { ms } = await load.ask('run', { port, path, token, connections: CONNECTIONS, count: requests })
      return rates({ ms, cpuMs: (await process.ask('cpuMs')) - before }, requests)
    }
    await round(bareProcess, barePort, count)()
    await round(oursProcess, target.port, count)()
    const { bare: theirs, ours: own } = await inTurns(rounds, {
      bare: round(bareProcess, barePort, count),
      ours: round(oursProcess, target.port, count),
    })
    return { bytes: Buffer.byteLength(answer.body), ratios: against(theirs, own) }
  } finally {
    await Promise.all([load, oursProcess, bareProcess].map((process) => process.stop()))
  }
}

/** @param {{ rounds: number, profile: boolean }} options */
export async function measureNode(options) {
  const { bytes, ratios } = await compare({ ...options, ours: 'hookswitch', bare: 'bare', count: 40_000 })
  return [
    {
      row: 'P4',
      what: `GET a webhook with token, node adapter, ${bytes} bytes`,
      baseline: 'bare node:http, same bytes',
      unit: 'ratio',
      goal: 0.7,
      floor: 0.5,
      ...ratios,
    },
  ]
}

/** @param {{ rounds: number, profile: boolean }} options */
export async function measureExpress(options) {
  const { bytes, ratios } = await compare({ ...options, ours: 'express', bare: 'bareExpress', count: 15_000 })
  return [
    {
      row: 'P5',
      what: `the same mounted in Express 5, ${bytes} bytes`,
      baseline: 'an Express route, same bytes',
      unit: 'ratio',
      goal: 0.9,
      floor: 0.75,
      ...ratios,
    },
  ]
}
