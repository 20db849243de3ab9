"""The explorer: a local web page that shows torque happen, and the small server behind it (`imtorque explore`)."""
