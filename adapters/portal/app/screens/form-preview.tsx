/** What the receiver gets: the request for one event, made by the service from the values of the form. */
import { useSignal } from '@preact/signals'
import type { RequestPreview } from 'hookswitch/client'
import { useEffect } from 'preact/hooks'
import { accountRequest } from '../api/api.js'
import { CopyButton } from '../components/copy.js'
import { Panel } from '../components/panel.js'
import { RequestText } from '../components/request-text.js'
import { Seg } from '../components/seg.js'
import { kindName } from '../state/kinds.js'
import { t } from '../state/translate.js'
import { addressProblem } from '../text/address.js'
import { type FormValues, settingsOf } from '../text/webhook-form.js'
import type { FormState } from './form-state.js'

/** While somebody types. */
const PAUSE_MS = 400
/** As many events as fit side by side; others are chosen from a list. */
const MAX_BUTTONS = 3
/** Shown where all events are chosen. */
const COMMON = ['channel_create', 'channel_answer', 'channel_destroy']
const EXAMPLE_URI = 'https://your-server.com/calls'

interface PreviewProps {
  readonly form: FormState
}

export function Preview({ form }: PreviewProps) {
  const values = form.values.value
  const preview = useSignal<RequestPreview | undefined>(undefined)
  const chosen = useSignal('')
  const ids = values.isAll ? COMMON : values.kinds.length > 0 ? values.kinds : COMMON.slice(0, 1)
  const hook = ids.includes(chosen.value) ? chosen.value : ids[0]!
  const webhook = previewedSettings(values)
  const key = JSON.stringify([hook, webhook])
  useEffect(() => {
    if (!webhook) return
    const controller = new AbortController()
    const timer = setTimeout(
      () => {
        const parameters = { accountId: form.accountId, data: { webhook, hook } }
        accountRequest<RequestPreview>('PUT', '/webhooks/preview', parameters, controller.signal).then(
          (found) => {
            if (!controller.signal.aborted) preview.value = found
          },
          () => {
            // Saving says what is wrong; the preview keeps what it has.
          },
        )
      },
      preview.peek() ? PAUSE_MS : 0,
    )
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  if (!preview.value) return null
  const { curl } = preview.value
  return (
    <Panel title={t('form.previewTitle')} class="beside">
      <div class="pad stack pv">
        {ids.length > MAX_BUTTONS ? (
          <div class="field">
            <select
              aria-label={t('form.previewEvent')}
              value={hook}
              onChange={(event) => {
                chosen.value = event.currentTarget.value
              }}
            >
              {ids.map((id) => (
                <option key={id} value={id}>
                  {kindName(id)}
                </option>
              ))}
            </select>
          </div>
        ) : (
          ids.length > 1 && (
            <Seg
              label={t('form.previewEvent')}
              value={hook}
              onChange={(id) => {
                chosen.value = id
              }}
              options={ids.map((id) => ({ value: id, text: kindName(id) }))}
            />
          )
        )}
        <RequestText request={preview.value} label={t('attempt.request')} />
        <div class="row">
          <CopyButton label={t('attempt.curl')} text={() => curl} />
        </div>
      </div>
    </Panel>
  )
}

/** The settings that decide about the request, as far as they can be read; `undefined`: not at the moment. */
function previewedSettings(values: FormValues): Readonly<Record<string, unknown>> | undefined {
  const { settings } = settingsOf({ ...values, isAll: true, isFilterJson: true, filter: '' }) as {
    readonly settings?: Readonly<Record<string, unknown>>
  }
  if (!settings) return undefined
  const uri = values.uri.trim()
  const { http_verb, format, custom_data, custom_request_headers } = settings
  return {
    name: values.name || '-',
    uri: addressProblem(uri) ? EXAMPLE_URI : uri,
    hook: 'all',
    http_verb,
    format,
    ...(custom_data !== undefined && { custom_data }),
    ...(custom_request_headers !== undefined && { custom_request_headers }),
  }
}
