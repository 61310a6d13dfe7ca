/** A modal dialog of the browser's own: focus stays inside, Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../state/translate.js'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Absent: the dialog cannot be closed. */
  readonly onClose?: () => void
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current!
    const opener = document.activeElement
    element.showModal()
    return () => {
      element.close()
      // The element is being taken out of the document, where the browser gives the focus back to nobody.
      queueMicrotask(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
      })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="quiet" aria-label={t('action.close')} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: ComponentChildren
  /** The verb on the button. */
  readonly action: string
  readonly isDangerous?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something that cannot be undone, or that sends requests. */
export function Confirm({ title, text, action, isDangerous = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <button
          type="button"
          class={isDangerous ? 'danger' : 'primary'}
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </button>
      </p>
    </Dialog>
  )
}
