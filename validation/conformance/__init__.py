"""An independent model of a link, and an emulator's record replayed through it.

The model is written from the RFCs and papers that define each mechanism, from `docs/reference`, and where those leave a
choice, from the choice's description. It shares no code with the emulator, nor its way of computing: a serializer is
the integral of its rate, in exact integers, and what a packet costs is work on that integral.
"""
