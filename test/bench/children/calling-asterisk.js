/** An Asterisk whose manager interface sends the events of one recorded call over and over, with new ids each time. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { handleRequests, sleep } from '../processes.js'

const RECORDING = new URL('../../../examples/switches/recordings/asterisk-ami.txt.gz', import.meta.url)
/** The call: two phones that talk with each other. */
const CALL = '1795174204.0'
const TICK_MS = 5

const messages = gunzipSync(readFileSync(RECORDING))
  .toString('latin1')
  .split('\r\n\r\n')
  .filter((message) => `${message}\r\n`.includes(`Linkedid: ${CALL}\r\n`))
const secondsOf = (message) => Number(/^Timestamp: (.*)$/m.exec(message)[1])
const firstSeconds = secondsOf(messages[0])
/** The messages of the call and how long after its begin each is sent, with marks instead of ids and times. */
const template = messages.map((message) => ({
  atMs: (secondsOf(message) - firstSeconds) * 1_000,
  text: `${message
    .replace(/^Timestamp: .*$/m, 'Timestamp: %TIME%')
    .replaceAll(/\b1795174204\.(\d+)\b/g, '%EPOCH%.%$1%')
    .replaceAll(/(PJSIP\/\w+-)0000000(\d)/g, '$1%$2%')
    .replaceAll(/^BridgeUniqueid: .*$/gm, 'BridgeUniqueid: bridge-%0%')}\r\n\r\n`,
}))
const lastMs = Math.max(...template.map(({ atMs }) => atMs))

const sockets = new Set()
const reply = (action, id) => {
  const text = (...lines) =>
    `${[...lines.slice(0, 1), `ActionID: ${id}`, ...lines.slice(1)].join('\r\n')}\r\n\r\n`
  switch (action) {
    case 'Login':
      return text('Response: Success', 'Message: Authentication accepted')
    case 'CoreShowChannels':
      return `${text('Response: Success', 'EventList: start')}${text('Event: CoreShowChannelsComplete')}`
    default:
      return text('Response: Success')
  }
}
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => {})
  socket.write('Asterisk Call Manager/9.0.0\r\n')
  let pending = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    const actions = (pending + chunk).split('\r\n\r\n')
    pending = actions.pop()
    for (const action of actions) {
      const [, name] = /^Action: (.*?)\r?$/m.exec(action) ?? []
      const [, id] = /^ActionID: (.*?)\r?$/m.exec(action) ?? []
      socket.write(reply(name, id))
    }
  })
})

let calls = 0

/** Begins `rate` calls a second for some seconds; returns the number of calls when the last has ended. */
async function call({ rate, seconds }) {
  const startMs = Date.now()
  const active = []
  let begun = 0
  while (begun < rate * seconds || active.length > 0) {
    const nowMs = Date.now()
    for (; begun < rate * seconds && begun * (1_000 / rate) <= nowMs - startMs; begun += 1) {
      active.push({ number: calls, beginMs: startMs + begun * (1_000 / rate), next: 0 })
      calls += 2
    }
    let due = ''
    for (const call of active) {
      const epoch = Math.floor(call.beginMs / 1_000)
      const ids = [call.number, call.number + 1].map((id) => id.toString(16).padStart(8, '0'))
      for (
        ;
        call.next < template.length && call.beginMs + template[call.next].atMs <= nowMs;
        call.next += 1
      ) {
        due += template[call.next].text
          .replace('%TIME%', ((call.beginMs + template[call.next].atMs) / 1_000).toFixed(6))
          .replaceAll('%EPOCH%.%0%', `${epoch}.${call.number}`)
          .replaceAll('%EPOCH%.%1%', `${epoch}.${call.number + 1}`)
          .replaceAll('%0%', ids[0])
          .replaceAll('%1%', ids[1])
      }
    }
    while (active[0]?.next === template.length) active.shift()
    if (due !== '') for (const socket of sockets) socket.write(due, 'latin1')
    await sleep(TICK_MS)
  }
  return begun
}

handleRequests({
  listen: () =>
    new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, lastMs })),
    ),
  call,
})
