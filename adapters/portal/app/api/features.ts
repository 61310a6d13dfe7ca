/** Which features the service has, read from its OpenAPI document at the first use. Others are not shown. */
import { signal } from '@preact/signals'
import { API_URL } from './settings.js'

/** How the document mentions each feature. */
const MENTIONS = {
  resume: '/webhooks/{webhook_id}/resume"',
  preview: '/webhooks/preview"',
  match: '/events/match"',
} as const

type Feature = keyof typeof MENTIONS

const document = signal<string | undefined>(undefined)
let isRequested = false

async function load(): Promise<void> {
  try {
    const response = await fetch(`${API_URL.replace(/(?<!\/)\/+$/, '')}/v1/openapi.json`, {
      credentials: 'omit',
    })
    if (response.ok) document.value = await response.text()
  } catch {
    // The next use tries again.
  }
  if (document.value === undefined) isRequested = false
}

/** `undefined` until it is known. */
export function hasFeature(feature: Feature): boolean | undefined {
  if (!isRequested) {
    isRequested = true
    void load()
  }
  return document.value?.includes(MENTIONS[feature])
}
