/** Clients that read live streams. */
import http from 'node:http'
import { handleRequests } from '../processes.js'

const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
let heartbeats = 0
let onHeartbeat = () => {}
const open = []

/** Resolves when the stream has begun. */
function openStream({ port, path, token }) {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path, agent, headers: { 'x-auth-token': token } }, (response) => {
      response.setEncoding('utf8')
      if (response.statusCode !== 200) {
        reject(new Error(`${path}: ${response.statusCode}`))
        request.destroy()
        return
      }
      response.once('data', () => resolve())
      response.on('data', (text) => {
        if (!text.includes(':\n\n')) return
        heartbeats += 1
        onHeartbeat()
      })
    })
    // Streams that are closed on purpose end here too, after they have begun.
    request.on('error', reject)
    open.push(request)
  })
}

handleRequests({
  /** @param {{ port: number, targets: readonly { path: string, token: string }[], count: number }} input */
  async open({ port, targets, count }) {
    for (let index = 0; index < count; index += 1)
      await openStream({ port, ...targets[index % targets.length] })
  },
  /** Waits until there were as many heartbeats as there are streams. */
  heartbeats: () =>
    new Promise((resolve) => {
      onHeartbeat = () => {
        if (heartbeats >= open.length) resolve()
      }
      onHeartbeat()
    }),
  close() {
    for (const request of open.splice(0)) request.destroy()
    heartbeats = 0
  },
})
